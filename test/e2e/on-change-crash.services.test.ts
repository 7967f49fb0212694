import '#test/support/processes/with-services.ts';
import './on-change-crash.test.ts';
