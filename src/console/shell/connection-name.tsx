import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { useConnectionName } from '../data/connection-names.ts';
import { useRead } from '../data/read.ts';
import { pathOf } from '../data/route.ts';
import { Clip } from '../design/clip.tsx';
import {
  AccessProvider,
  environmentKeysOf,
  useAccess,
  useAccessOf,
  useSession,
  type Access,
} from '../session/context.tsx';

interface ConnectionLinkProps {
  readonly integration: string | null;
  readonly id: string | null;
}

/** Leads to a connection, by the name of its end user and its integration; the id is shown on hover. */
export function ConnectionLink({ integration, id }: ConnectionLinkProps): JSX.Element {
  if (integration === null || id === null || id === '') return <Clip text={integration ?? '–'} />;
  return <NamedLink integration={integration} id={id} />;
}

function NamedLink({ integration, id }: { readonly integration: string; readonly id: string }) {
  const { path } = useAccess();
  const name = useConnectionName(integration, id);
  const text = `${name} · ${integration}`;
  return (
    <Link
      href={path(pathOf('connections', integration, id))}
      class="clip"
      title={name === id ? text : `${text}\n${id}`}
    >
      {text}
    </Link>
  );
}

interface ConnectionOfEnvironmentProps extends ConnectionLinkProps {
  /** Its UUID. */
  readonly environment: string;
}

/** The link on a page of the account; the text alone where the session has no key of the environment. */
export function ConnectionOfEnvironment(props: ConnectionOfEnvironmentProps): JSX.Element {
  const { environment, integration, id } = props;
  const access = useEnvironmentAccess(environment);
  if (access === null) return <Clip text={[integration, id].filter(Boolean).join(' / ') || '–'} />;
  return (
    <AccessProvider access={access}>
      <ConnectionLink integration={integration} id={id} />
    </AccessProvider>
  );
}

function useEnvironmentAccess(uuid: string): Access | null {
  const { can } = useAccess();
  const session = useSession();
  // The chains of the audit have both, the name of an environment and its UUID.
  const isEnabled = can('account:audit:read');
  const { data } = useRead('GET /audit/chains', {}, { isEnabled });
  const name = data?.data.find((one) => one.environment === uuid)?.name;
  const key = environmentKeysOf(session).find(({ environment }) => environment?.name === name);
  return useAccessOf(name == null ? null : (key ?? null));
}
