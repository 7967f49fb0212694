/** One set of labels of a histogram. */
export interface Bucketed {
  observe(value: number): void;
}

interface Row {
  readonly labels: Readonly<Record<string, string>>;
  /** By upper bound; the last one counts values above all bounds. */
  readonly counts: number[];
  sum: number;
  count: number;
}

/**
 * A histogram in a registry of prom-client, whose own builds a text of the labels and checks them with each value:
 * here that happens once per set of labels.
 */
export class BucketHistogram {
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly name: string;
  readonly help: string;
  readonly #labelNames: readonly string[];
  readonly #bounds: readonly number[];
  readonly #rows: Row[] = [];

  /** @param buckets upper bounds, ascending */
  constructor(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets: readonly number[],
  ) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    this.#bounds = buckets;
  }

  /** Call once per set of labels: each call creates a row. @param values in the order of the names */
  labels(...values: string[]): Bucketed {
    const labels = Object.fromEntries(this.#labelNames.map((name, at) => [name, values[at] ?? '']));
    const bounds = this.#bounds;
    const row: Row = { labels, counts: Array<number>(bounds.length + 1).fill(0), sum: 0, count: 0 };
    this.#rows.push(row);
    return {
      observe(value) {
        let at = 0;
        while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
        row.counts[at] = (row.counts[at] ?? 0) + 1;
        row.sum += value;
        row.count += 1;
      },
    };
  }

  /** In the form that the registry requires. */
  async get(): Promise<object> {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#rows.flatMap((row) => this.#values(row)) };
  }

  #values({ labels, counts, sum, count }: Row): object[] {
    const { name } = this;
    let upTo = 0;
    const buckets = this.#bounds.map((le, at) => {
      upTo += counts[at] ?? 0;
      return { labels: { le, ...labels }, value: upTo, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels: { le: '+Inf', ...labels }, value: count, metricName: `${name}_bucket` },
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}
