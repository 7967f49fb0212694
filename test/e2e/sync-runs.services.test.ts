import '#test/support/processes/with-services.ts';
import './sync-runs.test.ts';
