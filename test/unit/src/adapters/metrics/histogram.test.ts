import { Histogram } from 'prom-client';
import { expect, it } from 'vitest';
import { BucketHistogram } from '../../../../../src/adapters/metrics/histogram.ts';

it('says of its values what the histogram of prom-client says', async () => {
  const labelNames = ['route', 'status'];
  const buckets = [0.001, 0.5, 1, 30];
  const theirs = new Histogram({ name: 'h', help: 'help', labelNames, buckets, registers: [] });
  const ours = new BucketHistogram('h', 'help', labelNames, buckets);
  const labelSets: [string, string][] = [
    ['/a', '200'],
    ['/a', '404'],
    ['/b', '200'],
  ];
  for (const labels of labelSets) {
    const row = ours.labels(...labels);
    for (const value of [0, 0.001, 0.0011, 0.5, 0.7, 30, 31, 1e9]) {
      row.observe(value);
      theirs.labels(...labels).observe(value);
    }
  }
  const { values, ...rest } = await theirs.get();
  expect(await ours.get()).toMatchObject({
    ...rest,
    values: values.map(({ labels, value, metricName }) => ({ labels, value, metricName })),
  });
});
