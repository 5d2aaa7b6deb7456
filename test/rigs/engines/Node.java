import static org.codelibs.opensearch.runner.OpenSearchRunner.newConfigs;

import java.util.List;
import java.util.stream.IntStream;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/**
 * One OpenSearch node; ends with its input. Takes its folder, the cluster's name, its number from 1, and ports of all nodes;
 * then settings of the security plugin, without which it is left out.
 */
public class Node {
    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[2]);
        String[] httpPorts = arguments[3].split(",");
        List<String> names = IntStream.rangeClosed(1, httpPorts.length).mapToObj(each -> "node-" + each).toList();
        List<String> seeds = List.of(arguments[4].split(",")).stream().map(port -> "127.0.0.1:" + port).toList();
        try (OpenSearchRunner runner = new OpenSearchRunner()) {
            List<String> security = List.of(arguments).subList(5, arguments.length);
            runner.onBuild((id, settings) -> {
                for (String setting : security) settings.put("plugins.security." + setting.split("=")[0], setting.split("=")[1]);
                settings.put("discovery.type", "zen")
                    .put("node.name", "node-" + number)
                    .put("http.port", httpPorts[number - 1])
                    .put("transport.port", arguments[4].split(",")[number - 1])
                    .putList("discovery.seed_hosts", seeds)
                    .putList("cluster.initial_cluster_manager_nodes", names);
            });
            runner.build(newConfigs()
                .basePath(arguments[0])
                .clusterName(arguments[1])
                .numOfNode(1)
                .pluginTypes("org.opensearch.knn.plugin.KNNPlugin"
                    + (security.isEmpty() ? "" : ",org.opensearch.security.OpenSearchSecurityPlugin")));
            while (System.in.read() >= 0) {}
        }
    }
}
