import type { JSX } from 'preact';

/** Strokes in a box of 16 by 16. */
const strokes = {
  activity: 'M1.5 8h3l2-5 3 10 2-5h3',
  alert: 'M8 2 1.5 13.5h13L8 2Zm0 4.5v3m0 2v.1',
  bell: 'M8 2a4 4 0 0 0-4 4v3l-1.5 2.5h11L12 9V6a4 4 0 0 0-4-4ZM6.5 13.75h3',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  chevron: 'm4 6 4 4 4-4',
  circle: 'M8 2.25a5.75 5.75 0 1 0 0 11.5 5.75 5.75 0 0 0 0-11.5Z',
  clock: 'M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5ZM8 4.5V8l2.5 1.5',
  close: 'm4 4 8 8m0-8-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  down: 'm4 9.5 4 4 4-4M8 2.5v11',
  database:
    'M2.5 4c0-2.7 11-2.7 11 0s-11 2.7-11 0Zm0 0v8c0 2.7 11 2.7 11 0V4m-11 4c0 2.7 11 2.7 11 0',
  external: 'M6.5 3h-3.5v10h10V9.5M9 2.5h4.5V7m0-4.5L7.5 8.5',
  folder: 'M2 4h4l1.5 1.75H14v7H2V4Z',
  gear: 'M8 5.75a2.25 2.25 0 1 0 0 4.5 2.25 2.25 0 0 0 0-4.5ZM8 1.5v2m0 9v2M1.5 8h2m9 0h2M3.4 3.4l1.4 1.4m6.4 6.4 1.4 1.4m0-9.2-1.4 1.4m-6.4 6.4-1.4 1.4',
  help: 'M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5ZM6 6.25a2 2 0 1 1 3 1.75c-.6.35-1 .75-1 1.4M8 11.4v.1',
  home: 'M2 7.5 8 2.5l6 5M3.5 6.5v7h3.5v-4h2v4h3.5v-7',
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2V9.5Zm0 0h3.5l1 1.75h3l1-1.75H14',
  info: 'M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5Zm0 5.5v4M8 4.75v.1',
  key: 'M5 8.25a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5Zm2-.0 6-6m-2.5 2.5 2 2m-4.25.25 1.5 1.5',
  layers: 'm8 2 6 3.25L8 8.5 2 5.25 8 2ZM2 8.25l6 3.25 6-3.25M2 11l6 3.25L14 11',
  link: 'm6.5 9.5 3-3M7 4.5l1.75-1.75a3.2 3.2 0 0 1 4.5 4.5L11.5 9M9 11.5l-1.75 1.75a3.2 3.2 0 0 1-4.5-4.5L4.5 7',
  list: 'M5.5 4h8m-8 4h8m-8 4h8M2.5 4h.1m-.1 4h.1m-.1 4h.1',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  menu: 'M2.5 4h11m-11 4h11m-11 4h11',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z',
  more: 'M3.25 8h.1M8 8h.1m4.65 0h.1',
  play: 'M4.5 2.75v10.5L13 8 4.5 2.75Z',
  plug: 'M5.5 1.75v3m5-3v3m-7 0h9v2.5a4.5 4.5 0 0 1-9 0v-2.5Zm4.5 7v2.5',
  plus: 'M8 3v10M3 8h10',
  refresh: 'M13.5 3v3.5H10m3.25 0A5.75 5.75 0 1 0 13.75 9',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Zm3.25 7.75 3.5 3.5',
  send: 'M14 2 7.5 8.5M14 2l-4 12-2.5-5.5L2 6l12-4Z',
  shield: 'M8 1.75 2.75 3.5v4c0 3.25 2.2 5.6 5.25 6.75 3.05-1.15 5.25-3.5 5.25-6.75v-4L8 1.75Z',
  sort: 'm5 6 3-3 3 3M5 10l3 3 3-3',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6Zm0-3.5V3m0 10v1.5M1.5 8H3m10 0h1.5M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1m-7.2 7.2-1 1',
  terminal: 'm3 4.5 3.5 3.5L3 11.5M8.5 12H13',
  up: 'm4 6.5 4-4 4 4M8 13.5v-11',
  user: 'M8 2.25a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5ZM2.5 13.75c.5-5 10.5-5 11 0',
} as const;

export type IconName = keyof typeof strokes;

/** Decoration: text beside it, or the label of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={strokes[name]} />
    </svg>
  );
}

export const iconNames = Object.keys(strokes) as readonly IconName[];
