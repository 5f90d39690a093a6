import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * A shop whose pages are made from the stock that another host keeps.
 *
 * <pre>
 * java -jar shop.jar stock   answers with the number of each article
 * java -jar shop.jar web     answers with a page of five articles, asked for one after the other
 * </pre>
 */
public class Shop {
    static final int ARTICLES = 5;

    interface Answer {
        String to(String path) throws IOException, InterruptedException;
    }

    static String stock(String path) {
        return String.valueOf(path.length());
    }

    static String page(HttpClient client) throws IOException, InterruptedException {
        var text = new StringBuilder();
        for (int article = 0; article < ARTICLES; article++) {
            var request = HttpRequest.newBuilder(URI.create("http://db:8000/" + article)).build();
            var number = client.send(request, BodyHandlers.ofString()).body();
            text.append("article ").append(article).append(": ").append(number).append(" in stock\n");
        }
        return text.toString();
    }

    static void serve(Answer answer) throws IOException {
        var server = HttpServer.create(new InetSocketAddress(8000), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = answer.to(exchange.getRequestURI().getPath()).getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            } catch (InterruptedException error) {
                throw new IOException(error);
            }
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    public static void main(String[] words) throws IOException {
        var client = HttpClient.newHttpClient();
        serve(words[0].equals("stock") ? Shop::stock : path -> page(client));
    }
}
