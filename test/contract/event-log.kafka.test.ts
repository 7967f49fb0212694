import { serviceUrl } from '#test/services/url.ts';
import { kafkaHarness } from '#test/support/worlds/kafka-log.ts';
import { eventLogContract } from './event-log.contract.ts';

eventLogContract('kafka', () => kafkaHarness(() => serviceUrl('kafka')));
