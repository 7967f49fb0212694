import { closest, distance } from 'fastest-levenshtein';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { baseVariant, type Stream } from '../model/stream.ts';
import type { RecordAccess, DeclaredModels } from '../services.ts';

interface Deps {
  readonly control: ControlPlane;
  readonly records: RecordAccess;
  readonly declaredModels: DeclaredModels;
}

/**
 * Refuses the name of a model that no function of the integration declares and of which the connection has no stream in
 * any variant. For a stream that was found to be empty: it costs queries.
 * @throws GatewayError with `code`; `projection_unavailable`, `log_unavailable`
 */
export async function requireModel(
  deps: Deps,
  stream: Stream,
  code: 'invalid_query_params' | 'invalid_body' = 'invalid_query_params',
): Promise<void> {
  const { environmentUid, integration, model } = stream;
  const find = () => deps.declaredModels.find(environmentUid, integration);
  if (find().all.has(model) || (await hasStream(deps, stream))) return;
  // It may have been deployed a moment ago, through another node.
  await deps.control.view.caughtUp();
  const { all, synced } = find();
  if (all.has(model)) return;
  const errors = [{ code: 'invalid_value', message: refusalOf(stream, synced), path: ['model'] }];
  throw new GatewayError(code, { errors });
}

async function hasStream(
  { records: { reader }, declaredModels }: Deps,
  stream: Stream,
): Promise<boolean> {
  const first = { cursor: null, modifiedAfter: null, actions: null, ids: null, limit: 1 };
  const variants = [stream.variant, baseVariant, ...declaredModels.variantsOf(stream)];
  for (const variant of new Set(variants)) {
    const page = await reader.page({ ...first, stream: { ...stream, variant } });
    if (page.hasStream) return true;
  }
  return false;
}

const namesShownMax = 20;
/** Two letters that changed places are two edits. */
const editsMax = 3;
const lettersPerEdit = 3;

function refusalOf({ integration, model }: Stream, synced: readonly string[]): string {
  const none = `No function of the integration "${integration}" declares the model "${model}"`;
  if (synced.length === 0) return `${none}: it has no sync.`;
  const shown = synced.slice(0, namesShownMax).join(', ');
  const more = synced.length - namesShownMax;
  const list = more > 0 ? `${shown} and ${more} more` : shown;
  const near = nearest(model, synced);
  const suggestion = near === null ? '' : ` Did you mean "${near}"?`;
  return `${none}, and the connection has no records of it. It declares ${list}.${suggestion}`;
}

function nearest(model: string, names: readonly string[]): string | null {
  const wanted = model.toLowerCase();
  const lower = names.map((name) => name.toLowerCase());
  const found = closest(wanted, lower);
  const edits = Math.min(editsMax, Math.ceil(wanted.length / lettersPerEdit));
  if (distance(wanted, found) > edits) return null;
  return names[lower.indexOf(found)] ?? null;
}
