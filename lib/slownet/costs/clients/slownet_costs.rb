# Times the operations of a client program of an entry: operation("connect") { ... }.
SERVER = ENV["SERVER"]

def operation(name)
  at = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond)
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  result = yield
  puts format("slownet-cost %s %.6f %d.%06d", name, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, *at.divmod(1_000_000))
  result
end
