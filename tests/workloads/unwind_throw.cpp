// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that wait in the middle of C++ exceptions: in a destructor while the stack is unwound, in a handler,
// in a handler of a rethrown exception, in std::sort's comparison. Prints "ready", then sleeps.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <sys/prctl.h>
#include <csignal>
#include <ctime>

namespace
{
volatile int sink;

[[gnu::noinline]] void wait()
{
	timespec t = { 1000, 0 };

	nanosleep(&t, nullptr);
	sink = sink + 1;
}

struct waits_when_destroyed {
	std::string name = "a string that needs memory of its own";

	~waits_when_destroyed()
	{
		wait();
	}
};

[[gnu::noinline]] void thrower(int depth)
{
	std::vector<int> v(static_cast<size_t>(depth) + 1, 3);

	if (depth > 0)
		thrower(depth - 1);
	else if (sink >= 0)
		throw std::runtime_error("thrown");
	sink = sink + v[0];
}

[[gnu::noinline]] void destroyed_by_exception()
{
	waits_when_destroyed w;

	thrower(12);
	sink = sink + static_cast<int>(w.name.size());
}

void in_destructor()
{
	try {
		destroyed_by_exception();
	} catch (const std::exception &) {
		sink = sink + 1;
	}
}

void in_handler()
{
	try {
		thrower(5);
	} catch (const std::exception &e) {
		wait();
		sink = sink + e.what()[0];
	}
}

void in_second_handler()
{
	try {
		try {
			thrower(3);
		} catch (...) {
			waits_when_destroyed w;

			w.name += "!";
			throw;
		}
	} catch (const std::exception &) {
		wait();
	}
}

void in_comparison()
{
	std::vector<std::string> v = { "c", "a", "b" };

	std::sort(v.begin(), v.end(), [](const std::string &a, const std::string &b) {
		wait();
		return a < b;
	});
	sink = sink + v[0][0];
}
}

int main()
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);

	std::thread threads[] = { std::thread(in_destructor), std::thread(in_handler),
				  std::thread(in_second_handler), std::thread(in_comparison) };
	timespec t = { 0, 200000000 };

	nanosleep(&t, nullptr);
	puts("ready");
	fflush(stdout);
	wait();
	for (std::thread &thread : threads)
		thread.join();
}
