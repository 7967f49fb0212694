/** What is fetched for the tests, pinned. Another version is another folder of the cache. */
export const versions = {
  kafka: '4.4.0',
  slf4j: '1.7.36',
  /** Apicurio Registry; 3.0.9 runs on Java 17, 3.3 does not. */
  registry: '3.0.9',
  /** The converters of Kafka Connect that read the registry; of those on Maven Central the newest with all its parts. */
  converter: '2.6.13.Final',
  /** The JDBC sink and the transforms of Debezium; 3.x runs on Java 17. */
  debezium: '3.3.1.Final',
  /** PostgreSQL without an installer. */
  postgres: '17.6.0',
  pg: '8.16.3',
  duckdb: '1.4.1',
  flink: '1.20.1',
  flinkKafka: '3.4.0-1.20',
  /** Of those on Maven Central the newest for 1.20. */
  flinkAvro: '1.20.0',
  /** Later ones insist on the registry's parent pom, which was never published. */
  mavenDependencyPlugin: '2.8',
  /** Built with Go, for `npm run test:helm` only. */
  helm: '3.19.0',
  /** Lints deploy/Dockerfile; the package has the program in it. */
  hadolint: '2.15.1',
  /** Generates clients in other languages. */
  openapiGenerator: '7.25.0',
  /** What the generated client for Python imports, its type checker, and a library that verifies webhooks. */
  clientPackages: [
    'urllib3==2.7.0',
    'python-dateutil==2.9.0.post0',
    'pydantic==2.14.4',
    'typing-extensions==4.16.0',
    'mypy==2.4.1',
    'standardwebhooks==1.1.0',
  ],
  /** Fuzzes the API by its OpenAPI document. */
  schemathesis: '4.32.5',
  /** Tools that check packed packages, and what these are used with (test/packages). */
  npm: {
    publint: '0.3.25',
    '@arethetypeswrong/cli': '0.18.5',
    pnpm: '12.21.0',
    '@yarnpkg/cli-dist': '4.18.1',
  },
  /** Of each minor version from the oldest supported one. */
  typescript: ['5.9.3', '6.0.3', '7.0.2'],
  /** Of each supported major version. */
  node: ['20.20.2', '22.23.3', '24.21.0'],
} as const;
