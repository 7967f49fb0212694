import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  assumptions,
  gatewayUs,
  mixOf,
  plan,
  units,
  type Cost,
  type Figures,
} from '#test/bench/capacity-model.ts';
import { withTables } from '#test/bench/capacity-tables.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const figures = JSON.parse(read('test/bench/capacity.json')) as Figures;
const page = read('docs/capacity.md');

/** Two sizes in which every unit has the cost, changed by `more`. */
function figuresOf(more: Partial<Cost> = {}, kafkaMs = [10, 10]): Figures {
  const zero = { followerUs: 0, messages: 0, topicBytes: 0, clickhouseBytes: 0 };
  const cost: Cost = { gatewayUs: 300, kafkaUs: 100, clickhouseUs: 100, ...zero, ...more };
  const all = Object.fromEntries(units.map((unit) => [unit, cost])) as Record<
    (typeof units)[number],
    Cost
  >;
  return {
    sizes: [1, 6].map((gateways, at) => ({
      gateways,
      idle: { gatewayMs: 0, kafkaMs: kafkaMs[at] ?? 0 },
      units: all,
    })),
  };
}
const recordsOnly = (record: number) => ({ ...mixOf(0), record });

describe('the page of capacity', () => {
  it('has the tables of the figures and the model', () => {
    expect(withTables(page, figures)).toBe(page);
  });

  it('is no longer right when a figure changes', () => {
    for (const unit of units) {
      const sizes = figures.sizes.map((size) => {
        const cost = { ...size.units[unit], gatewayUs: size.units[unit].gatewayUs * 2 };
        return { ...size, units: { ...size.units, [unit]: cost } };
      });
      expect(withTables(page, { sizes })).not.toBe(page);
    }
  });

  it('was measured with one, three and six processes', () => {
    expect(figures.sizes.map(({ gateways }) => gateways)).toEqual([1, 3, 6]);
  });
});

describe('a plan', () => {
  const perDay = (perSecond: number) => (perSecond * 86_400) / assumptions.peakFactor;

  it('has the nodes whose usable cores do the work of the peak', () => {
    // 100,000 records a second at 300 µs are 30 cores, of which a node gives 2.4.
    expect(plan(figuresOf(), recordsOnly(perDay(100_000)))).toMatchObject({
      installations: 1,
      nodes: 13,
      clickhouseCores: 17,
    });
  });

  it('has more nodes where each follows the others, and gives up one installation in the end', () => {
    const load = recordsOnly(perDay(100_000));
    const followed = plan(figuresOf({ followerUs: 10 }), load);
    expect(followed.nodes).toBeGreaterThan(13);
    expect(followed.installations).toBe(1);
    // 100,000 at 20 µs are 2 cores of every node: more than half of what it has.
    expect(plan(figuresOf({ followerUs: 20 }), load).installations).toBe(2);
    expect(gatewayUs(figuresOf({ followerUs: 20 }), 'run', 6)).toBe(400);
  });

  it('exceeds no limit, whatever the load', () => {
    for (let power = 5; power <= 11; power += 1) {
      const one = plan(figures, mixOf(10 ** power));
      expect(one.nodes).toBeLessThanOrEqual(assumptions.nodesMax);
      expect(one.clickhouseCores).toBeLessThanOrEqual(assumptions.clickhouseCores);
      expect(one.brokers).toBeLessThanOrEqual(assumptions.brokersMax);
      expect(one.partitions).toBeGreaterThanOrEqual(one.nodes);
    }
  });

  it('counts what each process costs the brokers at rest', () => {
    const load = recordsOnly(perDay(1_000_000));
    const { brokers } = plan(figuresOf({ clickhouseUs: 1 }), load);
    const resting = plan(figuresOf({ clickhouseUs: 1 }, [10, 10 + 5 * 100]), load);
    expect(resting.brokers).toBeGreaterThan(brokers);
  });
});
