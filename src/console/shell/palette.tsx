import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useElementId } from '../design/element-id.ts';
import { Icon } from '../design/icon.tsx';
import { OverlayBox } from '../design/overlay-box.tsx';
import { useAccessOf } from '../session/context.tsx';
import type { SessionKey } from '../session/session.ts';
import type { Target } from './target.ts';
import { matching, useFoundTargets } from './targets.ts';

interface PaletteProps {
  /** The environment in which is searched; null: none is chosen. */
  readonly environmentKey: SessionKey | null;
  /** The pages and environments of the session. */
  readonly places: readonly Target[];
  /** What was typed while this script was loaded; asked for once, when the field takes over. */
  readonly takeTyped: () => string;
  readonly onClose: () => void;
}

/** Typed letters are looked up after this pause. */
const pauseMs = 150;
const perGroupMax = 6;

/** A search of all that has a page; made for the keyboard. */
export function Palette({ environmentKey, places, takeTyped, onClose }: PaletteProps): JSX.Element {
  const [text, setText] = useState(takeTyped);
  const access = useAccessOf(environmentKey);
  const found = useFoundTargets(access, usePaused(text.trim()));
  const groups = grouped([...matching(places, text), ...found.targets], text === '');
  const targets = groups.flatMap(({ items }) => items);
  const [, navigate] = useLocation();
  const open = ({ href, isOutside }: Target): void => {
    onClose();
    if (isOutside === true) globalThis.open(href, '_blank', 'noopener');
    else navigate(href);
  };
  const id = useElementId();
  const input = useRef<HTMLInputElement>(null);
  // The dialog moves the focus a frame later, when the first letters may have been typed.
  useLayoutEffect(() => input.current?.focus(), []);
  const { active, move, reset } = useActive(targets.length);
  return (
    <OverlayBox
      title="Search"
      kind="dialog wide"
      initialFocus={() => input.current}
      onClose={onClose}
    >
      <div class="palette">
        <input
          ref={input}
          class="input"
          type="text"
          role="combobox"
          aria-label="Search pages, connections, functions, runs and documentation"
          aria-expanded={targets.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={targets.length > 0 ? `${id}-${active}` : undefined}
          autoComplete="off"
          spellcheck={false}
          placeholder="A page, connection, function, run id …"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            reset();
          }}
          onKeyDown={(event) => {
            const target = targets[active];
            if (event.key === 'ArrowDown') move(1);
            else if (event.key === 'ArrowUp') move(-1);
            else if (event.key === 'Enter' && target !== undefined) open(target);
            else return;
            event.preventDefault();
          }}
        />
        <Options id={id} groups={groups} active={active} onOpen={open} />
        <p class="muted" role="status">
          {statusOf(targets.length, found.isLoading)}
        </p>
      </div>
    </OverlayBox>
  );
}

function statusOf(count: number, isLoading: boolean): string {
  if (isLoading) return 'Searching …';
  return count === 0
    ? 'Nothing was found. Try a part of a name, or the whole id of a run. A record is found by its id on the page of its connection.'
    : '↑ ↓ to choose, Enter to open, Esc to close';
}

/** The text once it has not changed for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

/** Which of so many items is chosen; from the last to the first and back. */
function useActive(count: number) {
  const [index, setIndex] = useState(0);
  const active = count === 0 ? 0 : Math.min(index, count - 1);
  return {
    active,
    move: (step: number) => setIndex(count === 0 ? 0 : (active + step + count) % count),
    reset: () => setIndex(0),
  };
}

interface TargetGroup {
  readonly name: string;
  readonly items: readonly Target[];
  /** Position of its first item among all. */
  readonly first: number;
}

/** By group in the order in which they come; of each the first few, unless nothing was typed. */
function grouped(targets: readonly Target[], isWhole: boolean): readonly TargetGroup[] {
  const names = [...new Set(targets.map(({ group }) => group))];
  let first = 0;
  return names.map((name) => {
    const all = targets.filter(({ group }) => group === name);
    const items = isWhole ? all : all.slice(0, perGroupMax);
    const group = { name, items, first };
    first += items.length;
    return group;
  });
}

interface OptionsProps {
  readonly id: string;
  readonly groups: readonly TargetGroup[];
  readonly active: number;
  readonly onOpen: (target: Target) => void;
}

const Options = ({ id, groups, active, onOpen }: OptionsProps): JSX.Element => (
  <div class="palette-list" id={`${id}-list`} role="listbox" aria-label="Results">
    {groups.map(({ name, items, first }) => (
      <div key={name} role="group" aria-label={name}>
        <div class="label" aria-hidden="true">
          {name}
        </div>
        {items.map((target, index) => (
          <Option
            key={target.id}
            id={`${id}-${first + index}`}
            target={target}
            isActive={first + index === active}
            onOpen={() => onOpen(target)}
          />
        ))}
      </div>
    ))}
  </div>
);

interface OptionProps {
  readonly id: string;
  readonly target: Target;
  readonly isActive: boolean;
  readonly onOpen: () => void;
}

function Option({ id, target, isActive, onOpen }: OptionProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  const { icon, label, detail, isOutside } = target;
  return (
    <div
      ref={element}
      id={id}
      role="option"
      aria-selected={isActive}
      class="palette-option"
      onClick={onOpen}
    >
      <Icon name={icon} />
      <span class="clip">{label}</span>
      {detail !== undefined && <span class="clip muted">{detail}</span>}
      {isOutside === true && <Icon name="external" />}
    </div>
  );
}
