/** Times the operations of a client program of an entry: SlownetCosts.operation("connect", () -> ...). */
public final class SlownetCosts {
    public static final String SERVER = System.getenv("SERVER");

    public interface Work<T> {
        T run() throws Exception;
    }

    public static <T> T operation(String name, Work<T> work) throws Exception {
        java.time.Instant at = java.time.Instant.now();
        long began = System.nanoTime();
        T result = work.run();
        double seconds = (System.nanoTime() - began) / 1e9;
        System.out.printf(java.util.Locale.ROOT, "slownet-cost %s %.6f %d.%06d%n", name, seconds, at.getEpochSecond(), at.getNano() / 1000);
        return result;
    }
}
