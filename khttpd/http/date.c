// SPDX-License-Identifier: GPL-2.0
/* Dates as HTTP writes them: one form to write, three to read. */
#include "chars.h"
#include "date.h"

static void put_digits(char *out, int value, int digits)
{
	while (digits--) {
		out[digits] = '0' + value % 10;
		value /= 10;
	}
}

/**
 * khttpd_date_format() - write a time as an IMF-fixdate
 * @out: KHTTPD_DATE_LEN bytes, not terminated
 * @time: seconds since 1970; times outside years 1970 to 9999 are clamped
 */
void khttpd_date_format(char out[static KHTTPD_DATE_LEN], s64 time)
{
	static const char days[] = "ThuFriSatSunMonTueWed";
	static const char months[] = "MarAprMayJunJulAugSepOctNovDecJanFeb";
	int second, day, era_day, year, year_day, month;

	if (time < 0)
		time = 0;
	if (time > 253402300799LL)
		time = 253402300799LL;
	day = div_s64_rem(time, 86400, &second);

	/* Days since 1 March 0000, in eras of 400 years of 146097 days. */
	era_day = (day + 719468) % 146097;
	year = (era_day - era_day / 1460 + era_day / 36524 - era_day / 146096)
	       / 365;
	year_day = era_day - (365 * year + year / 4 - year / 100);
	month = (5 * year_day + 2) / 153;
	year += (day + 719468) / 146097 * 400 + (month >= 10);

	memcpy(out, "Thu, 01 Jan 1970 00:00:00 GMT", KHTTPD_DATE_LEN);
	memcpy(out, days + day % 7 * 3, 3);
	put_digits(out + 5, year_day - (153 * month + 2) / 5 + 1, 2);
	memcpy(out + 8, months + month * 3, 3);
	put_digits(out + 12, year, 4);
	put_digits(out + 17, second / 3600, 2);
	put_digits(out + 20, second / 60 % 60, 2);
	put_digits(out + 23, second % 60, 2);
}

/**
 * struct khttpd_date - the parts of a date while it is read
 * @year: all four digits
 * @month: 0 to 11
 * @day: 1 to 31
 * @second: of the day; 86400 is a leap second
 */
struct khttpd_date {
	int year;
	int month;
	int day;
	int second;
};

/* @digits digits at @s. Return: their value, or -1. */
static int get_digits(const u8 *s, int digits)
{
	int value = 0;

	while (digits--) {
		if (!is_digit(*s))
			return -1;
		value = value * 10 + *s++ - '0';
	}
	return value;
}

static int get_month(const u8 *s)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int i;

	for (i = 0; i < 12; i++) {
		if (!memcmp(s, months + 3 * i, 3))
			return i;
	}
	return -1;
}

/* "08:49:37". Return: second of the day, or -1. */
static int get_time(const u8 *s)
{
	int hour = get_digits(s, 2), minute = get_digits(s + 3, 2);
	int second = get_digits(s + 6, 2);

	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
	    second > 60 || s[2] != ':' || s[5] != ':')
		return -1;
	return hour * 3600 + minute * 60 + second;
}

/* Is it a day's name, @suffix included, of @len bytes? */
static bool is_day(const u8 *s, size_t len, const char *suffix)
{
	static const char * const days[] = {
		"Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun",
	};
	int i;

	for (i = 0; i < 7; i++) {
		size_t all = *suffix ? strlen(days[i]) : 3;

		if (len == all + strlen(suffix) && !memcmp(s, days[i], all) &&
		    !memcmp(s + all, suffix, strlen(suffix)))
			return true;
	}
	return false;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool get_fixdate(const u8 *s, struct khttpd_date *date)
{
	date->day = get_digits(s + 5, 2);
	date->month = get_month(s + 8);
	date->year = get_digits(s + 12, 4);
	date->second = get_time(s + 17);
	return is_day(s, 3, "") && !memcmp(s + 3, ", ", 2) && s[7] == ' ' &&
	       s[11] == ' ' && s[16] == ' ' && !memcmp(s + 25, " GMT", 4);
}

/* "06-Nov-94 08:49:37 GMT", behind the day's name and ", " */
static bool get_rfc850(const u8 *s, struct khttpd_date *date)
{
	date->day = get_digits(s, 2);
	date->month = get_month(s + 3);
	date->year = get_digits(s + 7, 2);
	date->second = get_time(s + 10);
	return s[2] == '-' && s[6] == '-' && s[9] == ' ' &&
	       !memcmp(s + 18, " GMT", 4);
}

/* "Sun Nov  6 08:49:37 1994" */
static bool get_asctime(const u8 *s, struct khttpd_date *date)
{
	date->month = get_month(s + 4);
	date->day = s[8] == ' ' ? get_digits(s + 9, 1) : get_digits(s + 8, 2);
	date->second = get_time(s + 11);
	date->year = get_digits(s + 20, 4);
	return is_day(s, 3, "") && s[3] == ' ' && s[7] == ' ' && s[10] == ' ' &&
	       s[19] == ' ';
}

/* Days from 1970 to 1 January of @year. */
static s64 days_before(int year)
{
	int y = year - 1;

	return 365LL * (year - 1970) + y / 4 - y / 100 + y / 400 - 477;
}

static bool date_value(const struct khttpd_date *date, s64 *time)
{
	static const u8 lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
				      30, 31 };
	bool leap = !(date->year % 4) && (date->year % 100 ||
					  !(date->year % 400));
	s64 days;
	int i;

	if (date->year < 0 || date->month < 0 || date->day < 1 ||
	    date->second < 0 ||
	    date->day > lengths[date->month] + (leap && date->month == 1))
		return false;
	days = days_before(date->year) + date->day - 1;
	for (i = 0; i < date->month; i++)
		days += lengths[i] + (leap && i == 1);
	*time = days * 86400 + date->second;
	return true;
}

/* RFC 9110 section 5.6.7: a two-digit year that would be more than 50 years in
 * the future MUST be taken for the last one in the past.
 */
static int full_year(int year, s64 now)
{
	int this_year = 1970 + (int)div_s64(now, 31556952);

	year += this_year - this_year % 100;
	return year > this_year + 50 ? year - 100 : year;
}

/**
 * khttpd_date_parse() - read a date in any of the three forms
 * @s: its bytes
 * @len: how many
 * @now: the time, for years of two digits
 * @time: result, seconds since 1970; may be negative
 *
 * The day's name must be one, but need not be the right one.
 *
 * Return: false if it is no date.
 */
bool khttpd_date_parse(const u8 *s, size_t len, s64 now, s64 *time)
{
	struct khttpd_date date;
	bool good = false;

	if (len == KHTTPD_DATE_LEN && s[3] == ',') {
		good = get_fixdate(s, &date);
	} else if (len == 24) {
		good = get_asctime(s, &date);
	} else if (len > 24 && len <= 33) {
		good = is_day(s, len - 24, "day") && s[len - 24] == ',' &&
		       s[len - 23] == ' ' && get_rfc850(s + len - 22, &date);
		if (good && date.year >= 0)
			date.year = full_year(date.year, now);
	}
	return good && date_value(&date, time);
}
