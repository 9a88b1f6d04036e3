# Installation: cmake --install build/release --prefix DIR. An installation may be moved, but for the systemd unit,
# which has the path of the daemon in it. deploy/build-packages.sh makes Debian packages of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(SCHAAS_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/schaas-0)
set(SCHAAS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/schaas)

install(TARGETS schaasd schaas-solver schaas-trial schaas-nvrtc RUNTIME COMPONENT daemon)
install(TARGETS schaas RUNTIME COMPONENT program)
install(TARGETS schaas_c EXPORT schaas-targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development INCLUDES DESTINATION ${SCHAAS_INCLUDE_DIR})
install(TARGETS schaas_remote LIBRARY COMPONENT library NAMELINK_SKIP)  # loaded by schaas_c from beside it

install(FILES client/cpp/include/schaas/schaas.h client/cpp/include/schaas/schaas.hpp client/cpp/include/schaas/views.hpp
  DESTINATION ${SCHAAS_INCLUDE_DIR}/schaas COMPONENT development)
install(FILES proto/kernel_abi.h DESTINATION ${SCHAAS_INCLUDE_DIR}/proto COMPONENT development)
install(DIRECTORY proto/schaas DESTINATION ${CMAKE_INSTALL_DATADIR}/schaas/proto COMPONENT development FILES_MATCHING PATTERN "*.proto")
install(DIRECTORY docs/examples/installed/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT development)
install(EXPORT schaas-targets NAMESPACE schaas:: DESTINATION ${SCHAAS_CMAKE_DIR} COMPONENT development)
configure_package_config_file(deploy/packaging/schaas-config.cmake.in ${CMAKE_BINARY_DIR}/schaas-config.cmake
  INSTALL_DESTINATION ${SCHAAS_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/schaas-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/schaas-config.cmake ${CMAKE_BINARY_DIR}/schaas-config-version.cmake
  DESTINATION ${SCHAAS_CMAKE_DIR} COMPONENT development)
file(RELATIVE_PATH SCHAAS_PREFIX_OF_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(deploy/packaging/schaas.pc.in ${CMAKE_BINARY_DIR}/schaas.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/schaas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(DIRECTORY client/python/schaas DESTINATION lib/python3/dist-packages COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

install(FILES deploy/schaasd.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/schaas COMPONENT daemon)
install(FILES deploy/systemd/sysusers.conf DESTINATION lib/sysusers.d RENAME schaas.conf COMPONENT daemon)
install(CODE "set(unit_source \"${CMAKE_SOURCE_DIR}/deploy/systemd/schaasd.service\")" COMPONENT daemon)
install(CODE [[
  file(READ "${unit_source}" unit)
  string(REPLACE "/usr/bin/schaasd" "${CMAKE_INSTALL_PREFIX}/bin/schaasd" unit "${unit}")
  file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/systemd/system/schaasd.service" "${unit}")
]] COMPONENT daemon)

# Made by the programs themselves when they are installed, so that they say what these programs take.
if(NOT CMAKE_CROSSCOMPILING)
  set(made ${CMAKE_BINARY_DIR}/made_by_programs)
  install(CODE "
    file(MAKE_DIRECTORY ${made})
    execute_process(COMMAND $<TARGET_FILE:schaas> completion bash OUTPUT_FILE ${made}/schaas COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT program)
  install(FILES ${made}/schaas DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  find_program(SCHAAS_HELP2MAN help2man)
  if(SCHAAS_HELP2MAN)
    foreach(program schaas schaasd)
      set(component ${program})
      string(REPLACE schaasd daemon component ${component})
      string(REPLACE schaas program component ${component})
      install(CODE "
        execute_process(COMMAND ${CMAKE_SOURCE_DIR}/deploy/packaging/manual-pages.sh $<TARGET_FILE:${program}> ${made}/${program}.man
          COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
      install(DIRECTORY ${made}/${program}.man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
    endforeach()
  else()
    message(STATUS "No manual pages are installed: there is no help2man")
  endif()
endif()
