# Times the operations of a client program of an entry: operation("connect") { ... }.
SERVER = ENV["SERVER"]

def operation(name)
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  result = yield
  puts format("slownet-cost %s %.6f", name, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began)
  result
end
