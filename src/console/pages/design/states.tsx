import type { JSX } from 'preact';
import { Button } from '../../design/button.tsx';
import { Empty, ErrorState, FailureNotice, Notice, SkeletonRows } from '../../design/states.tsx';
import { Section } from './section.tsx';

export const States = (): JSX.Element => (
  <div class="stack">
    <Section title="Loading">
      <SkeletonRows count={3} />
    </Section>
    <Section title="Empty">
      <Empty
        title="Nothing yet"
        command="npx svc help"
        action={<Button tone="primary">The next step</Button>}
      >
        Why it is empty, and what comes next:
      </Empty>
    </Section>
    <Section title="Failure">
      <ErrorState
        failure={{
          message: 'There is no connection "acme" of "crm" in the environment "dev".',
          code: 'unknown_connection',
          fix: 'List the connections with GET /connections.',
          requestId: '0f9b7c2e',
        }}
        onRetry={() => undefined}
      />
    </Section>
    <Section title="Failure in a form">
      <FailureNotice
        failure={{
          message: 'The service cannot be reached.',
          code: null,
          fix: null,
          requestId: null,
        }}
      />
    </Section>
    <Section title="Notices">
      {(['info', 'good', 'warn', 'bad'] as const).map((tone) => (
        <Notice key={tone} tone={tone}>
          A notice of the tone {tone}.
        </Notice>
      ))}
    </Section>
    <Section title="Progress">
      <progress class="progress" max={1} value={0.4} aria-label="Progress" />
    </Section>
  </div>
);
