import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Badge, StateBadge } from '../../design/badge.tsx';
import { Button, IconButton, LinkButton } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Check, ChoiceSet, Select, TextArea, TextField } from '../../design/field.tsx';
import { Icon, iconNames } from '../../design/icon.tsx';
import { Section } from './section.tsx';

const tones = ['plain', 'primary', 'danger', 'danger filled', 'quiet'] as const;

export const Controls = (): JSX.Element => (
  <div class="stack">
    <Section title="Buttons">
      {tones.map((tone) => (
        <div class="row" key={tone}>
          <Button tone={tone}>{tone}</Button>
          <Button tone={tone} icon="play">
            With an icon
          </Button>
          <Button tone={tone} isSmall>
            Small
          </Button>
          <Button tone={tone} isDisabled>
            Disabled
          </Button>
          <Button tone={tone} isBusy>
            Busy
          </Button>
        </div>
      ))}
      <div class="row">
        <LinkButton href="/design" icon="link">
          Link
        </LinkButton>
        <IconButton icon="refresh" label="An icon with a label" onPress={() => undefined} />
        <CopyButton text="Copied text" />
      </div>
    </Section>
    <Section title="Fields">
      <Fields />
    </Section>
    <Section title="Badges">
      <div class="row">
        {(['plain', 'good', 'bad', 'warn', 'info'] as const).map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        <StateBadge state="running" />
        <StateBadge state="timed_out" />
      </div>
    </Section>
    <Section title="Icons">
      <div class="row">
        {iconNames.map((name) => (
          <span key={name} class="row">
            <Icon name={name} />
            <span class="muted">{name}</span>
          </span>
        ))}
      </div>
    </Section>
  </div>
);

function Fields(): JSX.Element {
  const [text, setText] = useState('Text');
  const [isChecked, setChecked] = useState(true);
  const [chosen, setChosen] = useState<readonly ('a' | 'b')[]>(['b']);
  return (
    <>
      <div class="filters">
        <TextField label="Text" value={text} onInput={setText} />
        <TextField label="Empty" placeholder="Placeholder" value="" onInput={setText} />
        <TextField label="With a hint" hint="What to write" value={text} onInput={setText} />
        <TextField label="Wrong" problem="This is not an address." value={text} onInput={setText} />
        <TextField label="Disabled" isDisabled value={text} onInput={setText} />
        <Select
          label="Select"
          value="b"
          choices={[
            { value: 'a', label: 'First' },
            { value: 'b', label: 'Second with a long label that does not fit' },
          ]}
          onChange={setText}
        />
      </div>
      <TextArea label="Text of several lines" rows={3} value={text} onInput={setText} />
      <Check label="Check" hint="and a hint" isChecked={isChecked} onChange={setChecked} />
      <Check label="Disabled" isDisabled isChecked={false} onChange={setChecked} />
      <ChoiceSet
        label="Choices"
        choices={[
          { value: 'a', label: 'First' },
          { value: 'b', label: 'Second' },
        ]}
        chosen={chosen}
        onChange={setChosen}
      />
    </>
  );
}
