/** The tables of `docs/capacity.md`, from the figures and the model. */
import { code, table } from '#bin/generate/markdown.ts';
import {
  assumptions,
  followedRunsMax,
  followerUs,
  gatewayUs,
  mixOf,
  plan,
  recordsPerPartition,
  recordsPerServer,
  units,
  type Cost,
  type Figures,
  type Load,
  type Unit,
} from './capacity-model.ts';

const names: Readonly<Record<Unit, string>> = {
  record: 'record, new or changed',
  run: 'run of a sync that saves nothing',
  webhookIn: 'webhook of a provider',
  webhookOut: 'webhook to the application',
  proxied: 'call through the proxy',
};

const number = (value: number): string => {
  if (value === Infinity) return 'no limit';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(value, 1e-3))));
  const rounded = digits > 2 ? Number(value.toPrecision(2)) : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 3 });
};
const percent = (value: number): string => `${value > 0 ? '+' : ''}${Math.round(value * 100)} %`;

function costs(figures: Figures): string {
  const { sizes } = figures;
  const columns: readonly (readonly [string, keyof Cost])[] = [
    ['gateway, µs', 'gatewayUs'],
    ['each further process, µs', 'followerUs'],
    ['Kafka, µs', 'kafkaUs'],
    ['ClickHouse, µs', 'clickhouseUs'],
    ['messages', 'messages'],
    ['bytes on topics', 'topicBytes'],
    ['bytes in ClickHouse', 'clickhouseBytes'],
  ];
  const rows = units.map((unit) => [
    names[unit],
    ...columns.map(([, field]) =>
      number(
        field === 'followerUs' ? followerUs(figures, unit) : (sizes[0]?.units[unit][field] ?? 0),
      ),
    ),
  ]);
  return table(['One', ...columns.map(([name]) => name)], rows);
}

function rest({ sizes }: Figures): string {
  const rows = sizes.map(({ gateways, idle }) => [
    String(gateways),
    number(idle.gatewayMs),
    number(idle.kafkaMs),
  ]);
  return table(['Gateway processes', 'all of them, ms per s', 'Kafka, ms per s'], rows);
}

function check(figures: Figures): string {
  const others = figures.sizes.slice(1);
  const head = others.flatMap(({ gateways }) => [`${gateways}: measured`, 'model', 'difference']);
  const rows = units.map((unit) => [
    names[unit],
    ...others.flatMap(({ gateways, units: measured }) => {
      const [is, should] = [measured[unit].gatewayUs, gatewayUs(figures, unit, gateways)];
      return [number(is), number(should), percent(should / is - 1)];
    }),
  ]);
  return table(['Gateway, µs', ...head], rows);
}

function services({ sizes }: Figures): string {
  const fields = ['kafkaUs', 'clickhouseUs'] as const;
  const head = sizes.flatMap(({ gateways }) => [`Kafka, ${gateways}`, `ClickHouse, ${gateways}`]);
  const rows = units.map((unit) => [
    names[unit],
    ...sizes.flatMap((size) => fields.map((field) => number(size.units[unit][field]))),
  ]);
  return table(['µs', ...head], rows);
}

const needsHead = [
  'Installations',
  'Nodes',
  'Partitions',
  'Brokers',
  'Kafka, TB',
  'ClickHouse, cores',
  'ClickHouse, TB',
  'Nearest limit',
];
function needs(figures: Figures, load: Load): string[] {
  const one = plan(figures, load);
  return [
    number(one.installations),
    number(one.nodes),
    number(one.partitions),
    number(one.brokers),
    number(one.kafkaTb),
    number(one.clickhouseCores),
    number(one.clickhouseTb),
    one.limit ?? 'none is near',
  ];
}

const powers: Readonly<Record<number, string>> = {
  6: '10⁶',
  7: '10⁷',
  8: '10⁸',
  9: '10⁹',
  10: '10¹⁰',
  11: '10¹¹',
};
const sizes = (figures: Figures): string =>
  table(
    ['Records a day', ...needsHead],
    Object.entries(powers).map(([power, name]) => [
      name,
      ...needs(figures, mixOf(10 ** Number(power))),
    ]),
  );

/** Units per day of three customers. */
const customers: Readonly<Record<string, Load>> = {
  'A: an application with 500 connections': {
    record: 2e6,
    run: 50_000,
    webhookIn: 20_000,
    webhookOut: 60_000,
    proxied: 200_000,
    stored: 2e7,
  },
  'B: a product with 20,000 connections': {
    record: 3e8,
    run: 2e6,
    webhookIn: 2e6,
    webhookOut: 3e6,
    proxied: 5e6,
    stored: 1e9,
  },
  'C: a platform with 500,000 connections': {
    record: 2e10,
    run: 4e7,
    webhookIn: 5e7,
    webhookOut: 8e7,
    proxied: 1e8,
    stored: 5e10,
  },
};

const loads = (): string =>
  table(
    ['A day', 'records', 'runs', 'webhooks in', 'webhooks out', 'proxied calls', 'stored records'],
    Object.entries(customers).map(([name, load]) => [
      name,
      ...[...units.map((unit) => load[unit]), load.stored].map((value) =>
        value.toLocaleString('en-US'),
      ),
    ]),
  );
const plans = (figures: Figures): string =>
  table(
    ['Customer', ...needsHead],
    Object.entries(customers).map(([name, load]) => [name, ...needs(figures, load)]),
  );

function limits(figures: Figures): string {
  const { clickhouseCores, nodeCores, busyShare, ownerShare } = assumptions;
  return table(
    ['Limit', 'Reached at', 'Because'],
    [
      [
        'one partition',
        `${number(recordsPerPartition(figures))} records per s`,
        `its owner is one thread, planned at ${ownerShare * 100} % of a core`,
      ],
      [
        'one ClickHouse server',
        `${number(recordsPerServer(figures))} records per s`,
        `every row is on one shard, planned at ${busyShare * 100} % of ${clickhouseCores} cores`,
      ],
      [
        'following',
        `${number(followedRunsMax(figures))} runs per s`,
        `every process reads every state of the control plane: half of the usable part of ${nodeCores} cores`,
      ],
    ],
  );
}

const assumed = (): string =>
  table(
    ['Assumption', 'Value'],
    Object.entries(assumptions).map(([name, value]) => [code(name), String(value)]),
  );

/** By the name in the markers of the page. */
export const tables: Readonly<Record<string, (figures: Figures) => string>> = {
  costs,
  rest,
  check,
  services,
  limits,
  assumptions: assumed,
  sizes,
  customers: loads,
  plans,
};

/** The page with its tables as the figures and the model give them. @throws Error when it lacks one */
export function withTables(page: string, figures: Figures): string {
  return Object.entries(tables).reduce((text, [name, of]) => {
    const [begin, end] = [
      `<!-- begin ${name}: made by \`node test/bench/capacity.ts\`; do not edit -->`,
      `<!-- end ${name} -->`,
    ];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`The page has no table "${name}".`);
    const marked = `<!-- prettier-ignore-start -->\n\n${of(figures)}\n\n<!-- prettier-ignore-end -->`;
    return `${text.slice(0, from + begin.length)}\n${marked}\n${text.slice(to)}`;
  }, page);
}
