import { embeddedHarness } from '../support/embedded-log.ts';
import { eventLogContract } from './event-log.contract.ts';

eventLogContract('embedded', embeddedHarness());
