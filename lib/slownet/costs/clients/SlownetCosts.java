/** Times the operations of a client program of an entry: SlownetCosts.operation("connect", () -> ...). */
public final class SlownetCosts {
    public static final String SERVER = System.getenv("SERVER");

    public interface Work<T> {
        T run() throws Exception;
    }

    public static <T> T operation(String name, Work<T> work) throws Exception {
        long began = System.nanoTime();
        T result = work.run();
        System.out.printf(java.util.Locale.ROOT, "slownet-cost %s %.6f%n", name, (System.nanoTime() - began) / 1e9);
        return result;
    }
}
