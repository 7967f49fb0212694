import type { JSX } from 'preact';
import { instantOf, localDayAgo } from '../../data/local-time.ts';
import { Select, TextField } from '../../design/field.tsx';

/** Where a reader begins, as a form holds it. */
export interface FeedStart {
  readonly place: 'start' | 'time' | 'end';
  /** Local time; sent at the place `time` alone. */
  readonly time: string;
}

export const feedStart = (): FeedStart => ({ place: 'start', time: localDayAgo() });

/** As the API takes it. */
export const fromOf = ({ place, time }: FeedStart): string =>
  place === 'time' ? (instantOf(time) ?? time) : place;

const places = [
  { value: 'start', label: 'The beginning: the state of every record, then each change' },
  { value: 'time', label: 'A time within the last 28 days' },
  { value: 'end', label: 'The end: changes that come from now on' },
] as const;

interface StartFieldsProps {
  readonly label: string;
  readonly start: FeedStart;
  readonly onChange: (start: FeedStart) => void;
}

export const StartFields = ({ label, start, onChange }: StartFieldsProps): JSX.Element => (
  <>
    <Select
      label={label}
      value={start.place}
      choices={places}
      onChange={(value) => {
        const place = places.find((one) => one.value === value)?.value;
        if (place !== undefined) onChange({ ...start, place });
      }}
    />
    {start.place === 'time' && (
      <TextField
        label="Time (local)"
        type="datetime-local"
        isRequired
        value={start.time}
        onInput={(time) => onChange({ ...start, time })}
      />
    )}
  </>
);
