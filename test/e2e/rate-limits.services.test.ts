import '#test/support/processes/with-services.ts';
import './rate-limits.test.ts';
