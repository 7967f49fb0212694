import { openKafkaLog, type KafkaLogOptions } from '#adapters/event-log/kafka/open.ts';

/** `host:port` of each broker of a URL `kafka://host:port,host:port`. */
export const brokersOf = (url: string): string[] => url.replace('kafka://', '').split(',');

export const openTestLog = (url: string, options: Partial<KafkaLogOptions> = {}) =>
  openKafkaLog({ brokers: brokersOf(url), allowsFuture: true, ...options });
