# A front door to CMake; the work is described in CMakeLists.txt and CMakePresets.json.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
BENCH_ARGS ?=

.PHONY: help configure build demo test bench install format clean

help:
	@echo "make demo      build, encrypt and decrypt a real file, and compare with openssl"
	@echo "make test      build everything and run all tests"
	@echo "make build     build the library and the command, which is then build/bin/stockade"
	@echo "make bench     build, then measure AES against OpenSSL   (BENCH_ARGS='--sizes 16KiB')"
	@echo "make install   install what was built                    (PREFIX=$(PREFIX), DESTDIR)"
	@echo "make format    lay out the code with clang-format"
	@echo "make clean     remove build/ and build-*/"
	@echo "Other variables: JOBS=$(JOBS), CMAKE_ARGS='-DSTOCKADE_WERROR=ON'"

configure:
	@tools/setup.sh build
	cmake --preset release $(CMAKE_ARGS)

build: configure
	cmake --build --preset release -j $(JOBS) --target stockade stockade_static stockade_cli

demo: build
	@tools/demo.sh build/bin/stockade

test: configure
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(JOBS)

bench: build
	build/bin/stockade bench aes $(BENCH_ARGS)

# Builds only where nothing was built yet, so that `sudo make install` leaves no files of root in build/.
install:
	@test -x build/bin/stockade || $(MAKE) build
	cmake --install build --prefix $(PREFIX)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

format:
	find include src cmd bench tests fuzz \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cpp' \) \
	  -exec clang-format -i {} +

clean:
	rm -rf build build-*
