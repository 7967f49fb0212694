import { openTestStore } from '../support/projection.ts';
import { projectionStoreContract } from './projection-store.contract.ts';

projectionStoreContract('embedded', openTestStore);
