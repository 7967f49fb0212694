/**
 * `npm run test:scans [-- scans] [--nodes 3] [--url URL … --key KEY]`: pages through records while a run updates
 * them, with every filter, and prints how many scans ended early or missed a record. On a gateway that it starts; on
 * several of them over Kafka, with common tables; or on those that were started already, with a key of full access.
 */
import { parseArgs } from 'node:util';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import { deploymentEnv } from '#test/support/processes/deployment.ts';
import { accessTo, startGateway, type GatewayAccess } from '#test/support/processes/gateway.ts';
import { startOwnServices } from '#test/support/processes/own-services.ts';
import { openScanWorld, type ScanTally } from '#test/support/worlds/scans.ts';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '1' },
    url: { type: 'string', multiple: true, default: [] },
    key: { type: 'string', default: '' },
  },
});
const scans = Number(positionals[0] ?? 2000);
/** A scan of few records is as slow as one of many: its pages have one record, or seven. */
const shareOfFew = 0.1;
const scansPerReport = 200;

const added = (known: ScanTally | undefined, more: ScanTally): ScanTally => ({
  scans: (known?.scans ?? 0) + more.scans,
  pages: (known?.pages ?? 0) + more.pages,
  endedEarly: (known?.endedEarly ?? 0) + more.endedEarly,
  missedSome: (known?.missedSome ?? 0) + more.missedSome,
});

async function gateways(stack: AsyncDisposableStack): Promise<readonly GatewayAccess[]> {
  if (options.url.length > 0) {
    const { key } = options;
    return options.url.map((url) => accessTo(url, { key, prodKey: key, accountKey: key }));
  }
  const env = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
  if (options.nodes === '1') return [stack.use(await startGateway({ env }))];
  stack.use(await startOwnServices());
  const { url } = stack.use(await startClickHouseFront());
  const nodes: GatewayAccess[] = [];
  // The topics of each are those of the first.
  let shared = {};
  for (let at = 0; at < Number(options.nodes); at += 1) {
    const node = await startGateway({ env: { ...env, SVC_CLICKHOUSE_URL: url, ...shared } });
    if (at === 0) shared = deploymentEnv(node.dataDir);
    nodes.push(stack.use(node));
  }
  return nodes;
}

await using stack = new AsyncDisposableStack();
const scanned = await gateways(stack);
await using world = await openScanWorld(scanned);
console.log(`${scans} scans on ${scanned.length} node(s), SVC_TEST_SEED=${seedOfRun()}`);
const totals = new Map<string, ScanTally>();
for (let left = scans; left > 0; left -= scansPerReport) {
  const share = Math.min(left, scansPerReport);
  const tallies = await world.scan({ Many: share, Few: Math.ceil(share * shareOfFew) });
  for (const [kind, tally] of tallies) totals.set(kind, added(totals.get(kind), tally));
  console.log(new Date().toISOString(), `${scans - left + share} of ${scans}`);
}
let wrong = 0;
for (const [kind, { scans: made, pages, endedEarly, missedSome }] of totals) {
  wrong += endedEarly + missedSome;
  console.log(
    `${kind}: ${made} scans, ${pages} pages, ${endedEarly} ended early, ${missedSome} missed some`,
  );
}
process.exitCode = wrong === 0 ? 0 : 1;
