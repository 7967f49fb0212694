import { z } from 'zod';

/** A channel of a server (guild) as Discord returns it. */
export const DiscordChannel = z.object({
  id: z.string(),
  type: z.number(),
  name: z.string().nullish(),
  topic: z.string().nullish(),
  parent_id: z.string().nullish(),
  position: z.number().nullish(),
});
export type DiscordChannel = z.infer<typeof DiscordChannel>;

export const Channel = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum([
    'text',
    'voice',
    'category',
    'announcement',
    'stage',
    'directory',
    'forum',
    'media',
    'other',
  ]),
  topic: z.string().nullable(),
  /** The category that it is in. */
  parent_id: z.string().nullable(),
  position: z.number().nullable(),
});
export type Channel = z.infer<typeof Channel>;

const types: Readonly<Record<number, Channel['type']>> = {
  0: 'text',
  2: 'voice',
  4: 'category',
  5: 'announcement',
  13: 'stage',
  14: 'directory',
  15: 'forum',
  16: 'media',
};

export const channelOf = (channel: DiscordChannel): Channel => ({
  id: channel.id,
  name: channel.name ?? '',
  type: types[channel.type] ?? 'other',
  topic: channel.topic ?? null,
  parent_id: channel.parent_id ?? null,
  position: channel.position ?? null,
});
