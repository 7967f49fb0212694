import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, Client } from '#client/index.ts';
import { counted } from '../../data/counted.ts';
import { failureOf } from '../../data/failure.ts';
import { instantOf, localDayAgo } from '../../data/local-time.ts';
import { useChange } from '../../data/read.ts';
import type { UrlState } from '../../data/url-state.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { FailureNotice, Notice } from '../../design/states.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { queryOf } from './message-query.ts';

type RecoveryResult = Answer<'POST /webhook-messages/recover'>;

/** Sends once more what failed since a time and was not recovered yet. */
export function Recover({ filters }: { readonly filters: UrlState }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [since, setSince] = useState(localDayAgo);
  return (
    <>
      <Button icon="refresh" onPress={() => setOpen(true)}>
        Recover failed…
      </Button>
      {isOpen && (
        <SendAgain
          title="Send failed webhooks again"
          input={since}
          send={(client, isPreview) =>
            client.request('POST /webhook-messages/recover', {
              body: {
                since: instantOf(since) ?? since,
                endpoint_id: filters.sent('endpoint'),
                dry_run: isPreview,
              },
            })
          }
          onClose={() => setOpen(false)}
        >
          <p>Those that failed and were not recovered yet.</p>
          <TextField
            label="Failed since (local time)"
            type="datetime-local"
            value={since}
            isRequired
            onInput={setSince}
          />
        </SendAgain>
      )}
    </>
  );
}

/** Sends a range once more: what matches the filters of the page, whatever became of it. */
export function Replay({ filters }: { readonly filters: UrlState }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [since, setSince] = useState(localDayAgo);
  const [until, setUntil] = useState('');
  return (
    <>
      <Button icon="send" onPress={() => setOpen(true)}>
        Replay a range…
      </Button>
      {isOpen && (
        <SendAgain
          title="Replay a range of webhooks"
          input={`${since} ${until}`}
          send={(client, isPreview) =>
            client.request('POST /webhook-messages/replay', {
              body: {
                ...queryOf(filters),
                since: instantOf(since) ?? since,
                until: instantOf(until),
                dry_run: isPreview,
              },
            })
          }
          onClose={() => setOpen(false)}
        >
          <p>Those of the list, with its filters, of this range; delivered ones too.</p>
          <TextField
            label="Created since (local time)"
            type="datetime-local"
            value={since}
            isRequired
            onInput={setSince}
          />
          <TextField
            label="Created until (local time)"
            hint="Empty: until now"
            type="datetime-local"
            value={until}
            onInput={setUntil}
          />
        </SendAgain>
      )}
    </>
  );
}

interface SendAgainProps {
  readonly title: string;
  /** The fields; a preview of others does not count. */
  readonly children: ComponentChildren;
  readonly input: string;
  readonly send: (client: Client, isPreview: boolean) => Promise<RecoveryResult>;
  readonly onClose: () => void;
}

/** Counts first, and sends after that. */
function SendAgain({ title, children, input, send, onClose }: SendAgainProps): JSX.Element {
  const [plan, setPlan] = useState<{
    readonly input: string;
    readonly data: RecoveryResult['data'];
  } | null>(null);
  const preview = useChange((client) => send(client, true), {
    onDone: ({ data }) => setPlan({ input, data }),
    showsFailure: true,
  });
  const apply = useChange((client) => send(client, false), {
    done: ({ data }) => `Sending ${counted(data.replayed, 'webhook')} again`,
    onDone: onClose,
    showsFailure: true,
  });
  const current = plan?.input === input ? plan.data : null;
  return (
    <Dialog title={title} onClose={onClose}>
      <ChangeForm
        change={preview}
        verb="Count them"
        outcome={current !== null && <Plan plan={current} />}
      >
        {children}
      </ChangeForm>
      {apply.error !== null && <FailureNotice failure={failureOf(apply.error)} />}
      {current !== null && current.matched > 0 && (
        <div>
          <Button tone="primary" isBusy={apply.isPending} onPress={() => apply.mutate()}>
            Send {current.matched.toLocaleString('en')} again
          </Button>
        </div>
      )}
    </Dialog>
  );
}

const Plan = ({ plan }: { readonly plan: RecoveryResult['data'] }): JSX.Element => (
  <Notice>
    {plan.matched === 0
      ? 'There is none.'
      : `${counted(plan.matched, 'webhook')}${plan.has_more ? ', and more follow' : ''}. The application receives them once more.`}
  </Notice>
);
