import { serviceUrl } from '../services/url.ts';
import { kafkaHarness } from '../support/kafka-log.ts';
import { eventLogContract } from './event-log.contract.ts';

eventLogContract('kafka', () => kafkaHarness(() => serviceUrl('kafka')));
