import '#test/support/with-services.ts';
import './sync-runs.test.ts';
