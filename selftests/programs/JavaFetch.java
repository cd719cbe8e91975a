// SPDX-License-Identifier: GPL-2.0

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Fetches files with Java's HttpClient, all at once, for selftests/guest/khttpd_clients.py.
 *
 *	java JavaFetch BASE DIRECTORY NAME...		BASE/NAME into DIRECTORY/NAME
 */
public class JavaFetch {
	public static void main(String[] args) throws Exception {
		HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		List<CompletableFuture<HttpResponse<Path>>> replies = new ArrayList<>();

		for (int i = 2; i < args.length; i++) {
			Path to = Path.of(args[1], args[i]);

			Files.createDirectories(to.getParent());
			replies.add(client.sendAsync(
				HttpRequest.newBuilder(new URI(args[0] + "/" + args[i])).build(),
				HttpResponse.BodyHandlers.ofFile(to)));
		}
		for (CompletableFuture<HttpResponse<Path>> reply : replies)
			if (reply.get().statusCode() != 200)
				throw new Exception(reply.get().toString());
	}
}
