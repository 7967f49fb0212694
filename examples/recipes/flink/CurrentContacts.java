import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;

/** Prints the current contacts of a typed topic with old rows, and their number by connection, with Flink SQL. */
public final class CurrentContacts {
  private static final String CONTACTS =
      """
      CREATE TABLE contacts (
        id STRING,
        name STRING,
        email STRING,
        score DOUBLE,
        isActive BOOLEAN,
        _connection_id STRING,
        PRIMARY KEY (_connection_id, id) NOT ENFORCED
      ) WITH (
        'connector' = 'kafka',
        'topic' = '%s',
        'properties.bootstrap.servers' = '%s',
        'properties.group.id' = 'data.current-contacts',
        'properties.isolation.level' = 'read_committed',
        'scan.startup.mode' = 'earliest-offset',
        'scan.bounded.mode' = 'latest-offset',
        'value.format' = 'debezium-avro-confluent',
        'value.debezium-avro-confluent.url' = '%s'
      )
      """;

  public static void main(String[] args) throws Exception {
    TableEnvironment flink = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    flink.getConfig().set("parallelism.default", "1");
    // Filling a topic reads each change of the last days again: several reads of one row.
    flink.getConfig().set("table.exec.source.cdc-events-duplicate", "true");
    flink.executeSql(
        CONTACTS.formatted(
            System.getenv("TOPIC"), System.getenv("KAFKA_BROKERS"), System.getenv("REGISTRY_URL")));
    print(flink, "row", "SELECT _connection_id, id, name, email, score, isActive FROM contacts", 2);
    print(flink, "count", "SELECT _connection_id, COUNT(*) FROM contacts GROUP BY _connection_id", 1);
  }

  /** Prints the result when all changes are applied; its first columns are its key. */
  private static void print(TableEnvironment flink, String kind, String query, int keyColumns)
      throws Exception {
    Map<String, Row> table = new TreeMap<>();
    try (CloseableIterator<Row> changes = flink.executeSql(query).collect()) {
      while (changes.hasNext()) {
        Row row = changes.next();
        String key = row.getField(0) + "/" + (keyColumns == 1 ? "" : row.getField(1));
        boolean isGone =
            row.getKind() == RowKind.DELETE || row.getKind() == RowKind.UPDATE_BEFORE;
        if (isGone) table.remove(key);
        else table.put(key, row);
      }
    }
    for (Row row : table.values()) {
      StringBuilder line = new StringBuilder(kind);
      for (int column = 0; column < row.getArity(); column++) {
        line.append('\t').append(row.getField(column));
      }
      System.out.println(line);
    }
  }
}
