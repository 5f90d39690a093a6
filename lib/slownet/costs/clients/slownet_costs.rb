# Times the operations of a client program of an entry: operation("connect") { ... }.
SERVER = ENV["SERVER"]

def operation(name)
  at = Time.now.to_f
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  result = yield
  puts format("slownet-cost %s %.6f %.6f", name, Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, at)
  result
end
