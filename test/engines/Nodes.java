import static org.codelibs.opensearch.runner.OpenSearchRunner.newConfigs;

import java.util.Scanner;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/** Three OpenSearch nodes in one process; lines of its input, such as "stop 2" and "start 2", end and begin one of them. */
public class Nodes {
    public static void main(String[] arguments) throws Exception {
        try (OpenSearchRunner runner = new OpenSearchRunner(); Scanner input = new Scanner(System.in)) {
            runner.build(newConfigs()
                .basePath(arguments[0])
                .clusterName(arguments[1])
                .baseHttpPort(Integer.parseInt(arguments[2]))
                .numOfNode(3)
                .pluginTypes("org.opensearch.knn.plugin.KNNPlugin"));
            while (input.hasNext()) {
                boolean isStop = input.next().equals("stop");
                int node = input.nextInt() - 1;
                if (isStop) runner.getNode(node).close();
                else runner.startNode(node);
            }
        }
    }
}
