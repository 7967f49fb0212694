import type { JSX } from 'preact';
import type { Alert } from '#client/index.ts';
import { Clip } from '../../design/clip.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';

const ofConnections: readonly string[] = ['connections_failing', 'refreshes_failing'];

/** What an alert is about: connections by their names. */
export function Subjects({ alert }: { readonly alert: Alert }): JSX.Element {
  const { subjects, count } = alert;
  const [first = ''] = subjects;
  const end = first.indexOf('/');
  if (!ofConnections.includes(alert.alert) || end === -1)
    return <Clip text={subjects.join(', ') || '–'} />;
  return (
    <span class="row">
      <ConnectionLink integration={first.slice(0, end)} id={first.slice(end + 1)} />
      {count > 1 && <span class="muted">+{(count - 1).toLocaleString('en')}</span>}
    </span>
  );
}
