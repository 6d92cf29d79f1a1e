# A front door to CMake; the work is described in CMakeLists.txt and CMakePresets.json.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
TEST_JOBS ?= $(JOBS)
TIME ?= 60
CMAKE_ARGS ?=
BENCH_ARGS ?=
RESULTS_ARGS ?=
# Whose pictures the README shows: what comes before -aes.json in bench/results/.
PICTURES_OF ?= amd-epyc-2
REPORT = MPLCONFIGDIR=build/matplotlib PYTHONPATH=report build/venv/bin/python3 -B -m stockade_report

.PHONY: help configure build demo test fuzz bench results benchmarks report report-test pictures install format clean

help:
	@echo "make demo        build, encrypt and decrypt a real file, and compare with openssl"
	@echo "make test        build everything and run all tests"
	@echo "make fuzz        build the fuzz targets with Clang and run each for a while   (TIME=$(TIME) seconds)"
	@echo "make build       build the library and the command, which is then build/bin/stockade"
	@echo "make bench       build, then measure AES against OpenSSL   (BENCH_ARGS='--sizes 16KiB')"
	@echo "make results     build, then run every benchmark into bench/results/   (RESULTS_ARGS='--quick --only aes rsa')"
	@echo "make benchmarks  bring the tables of docs/benchmarks.md to what bench/results/*.json says"
	@echo "make report      draw bench/results/*.json: build/report/report.html and its pictures"
	@echo "make pictures    report, then those of the README             (PICTURES_OF=$(PICTURES_OF))"
	@echo "make install     install what was built                    (PREFIX=$(PREFIX), DESTDIR)"
	@echo "make format      lay out the code with clang-format"
	@echo "make clean       remove build/ and build-*/"
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
	ctest --preset release -j $(TEST_JOBS) --output-junit $(CURDIR)/build/tests.xml

fuzz:
	@tools/setup.sh build clang
	fuzz/run.sh $(TIME)

bench: build
	build/bin/stockade bench aes $(BENCH_ARGS)

results: build
	cmake --build --preset release -j $(JOBS) --target stockade_commands
	PYTHONPATH=report python3 -B -m stockade_report collect --stockade build/bin/stockade -o bench/results $(RESULTS_ARGS)

benchmarks:
	PYTHONPATH=report python3 -B -m stockade_report benchmarks bench/results/*.json --page docs/benchmarks.md

report:
	@tools/setup.sh python
	$(REPORT) bench/results/*.json -o build/report/report.html --pictures build/report/pictures
	@echo "build/report/report.html"

pictures: report
	cp build/report/pictures/ratios-$(PICTURES_OF).svg docs/pictures/ratios.svg
	cp build/report/pictures/ratios-$(PICTURES_OF).png docs/pictures/ratios.png
	cp build/report/pictures/throughput-$(PICTURES_OF)-aes.svg docs/pictures/throughput.svg
	cp build/report/pictures/throughput-$(PICTURES_OF)-aes.png docs/pictures/throughput.png

report-test:
	@tools/setup.sh python
	report/run_tests.sh

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
