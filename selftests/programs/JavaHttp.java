// SPDX-License-Identifier: GPL-2.0

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * Java's HttpServer and HttpClient, for selftests/guest/programs_more.py: the server answers
 * with what was posted, the client posts eight requests at once and compares. Ends when it is
 * killed.
 *
 *	java JavaHttp serve|ask ADDRESS PORT
 */
public class JavaHttp {
	private static final int REQUESTS = 8;
	private static final int SIZE = 100000;

	private static void serve(String address, int port) throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress(address, port), REQUESTS);

		server.createContext("/", exchange -> {
			byte[] body = exchange.getRequestBody().readAllBytes();

			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.start();
	}

	private static void ask(String address, int port) throws Exception {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		URI uri = new URI("http://[" + address + "]:" + port + "/");
		List<CompletableFuture<HttpResponse<byte[]>>> replies = new ArrayList<>();
		byte[][] sent = new byte[REQUESTS][SIZE];

		for (int i = 0; i < REQUESTS; i++) {
			new Random(i).nextBytes(sent[i]);
			replies.add(client.sendAsync(
				HttpRequest.newBuilder(uri)
					.POST(HttpRequest.BodyPublishers.ofByteArray(sent[i])).build(),
				HttpResponse.BodyHandlers.ofByteArray()));
		}
		for (int i = 0; i < REQUESTS; i++)
			if (!Arrays.equals(replies.get(i).get().body(), sent[i]))
				throw new Exception("answer " + i + " is not what was sent");
		System.out.println(REQUESTS + " answers of " + SIZE + " bytes");
	}

	public static void main(String[] args) throws Exception {
		int port = Integer.parseInt(args[2]);

		if (args[0].equals("serve"))
			serve(args[1], port);
		else
			ask(args[1], port);
	}
}
