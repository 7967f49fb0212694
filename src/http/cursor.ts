import type { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';

/** An opaque cursor; `parse` refuses texts of another origin. */
export function cursorOf<T>(parts: z.ZodType<T>) {
  return {
    text: (position: T): string => Buffer.from(JSON.stringify(position)).toString('base64url'),
    /** @throws GatewayError `invalid_cursor_value` */
    parse(text: string): T {
      const parsed = parts.safeParse(jsonOf(Buffer.from(text, 'base64url').toString()));
      if (!parsed.success) throw new GatewayError('invalid_cursor_value');
      return parsed.data;
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}
