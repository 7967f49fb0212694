import type { JSX } from 'preact';
import { LinkButton } from '../design/button.tsx';
import { Empty } from '../design/states.tsx';
import { Page } from '../shell/page.tsx';

export const NotFound = (): JSX.Element => (
  <Page title="Not found">
    <Empty title="There is no page at this address" action={<LinkButton href="/">Home</LinkButton>}>
      The link may be old, or the session holds no key for it: add the key in the environment menu.
    </Empty>
  </Page>
);
