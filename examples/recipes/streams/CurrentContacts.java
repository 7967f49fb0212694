import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import java.util.Map;
import java.util.Properties;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Keeps the current contacts and their number by connection, each on a topic, exactly once. */
public final class CurrentContacts {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) {
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "data.current-contacts");
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, System.getenv("KAFKA_BROKERS"));
    settings.put(StreamsConfig.STATE_DIR_CONFIG, System.getenv("STATE_DIR"));
    // Reads committed messages only.
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put("auto.offset.reset", "earliest");
    settings.put("session.timeout.ms", "6000");

    Serde<String> text = Serdes.String();
    StreamsBuilder builder = new StreamsBuilder();
    KTable<String, String> contacts =
        builder.stream(System.getenv("TOPIC"), Consumed.with(text, envelopes()))
            .mapValues(CurrentContacts::row)
            .toTable(Materialized.with(text, text));
    contacts.toStream().to("data.current-contacts", Produced.with(text, text));
    contacts
        .groupBy((key, row) -> KeyValue.pair(connection(row), row), Grouped.with(text, text))
        .count()
        .toStream()
        .mapValues(String::valueOf)
        .to("data.contact-counts", Produced.with(text, text));

    KafkaStreams streams = new KafkaStreams(builder.build(), settings);
    streams.setStateListener((now, before) -> System.out.println("state " + now));
    Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
    streams.start();
  }

  /** Null after a delete, and of its tombstone: the table has no row then. */
  private static String row(GenericRecord envelope) {
    Object after = envelope == null ? null : envelope.get("after");
    return after == null ? null : after.toString();
  }

  private static String connection(String row) {
    try {
      return JSON.readTree(row).get("_connection_id").asText();
    } catch (JsonProcessingException error) {
      throw new IllegalStateException(error);
    }
  }

  private static Serde<GenericRecord> envelopes() {
    AvroKafkaDeserializer<GenericRecord> values = new AvroKafkaDeserializer<>();
    values.configure(
        Map.of(
            "apicurio.registry.url", System.getenv("REGISTRY_URL"),
            "apicurio.registry.as-confluent", true),
        false);
    return Serdes.serdeFrom(
        (topic, value) -> {
          throw new UnsupportedOperationException("Envelopes are only read.");
        },
        values);
  }
}
