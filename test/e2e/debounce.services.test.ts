import '#test/support/processes/with-services.ts';
import './debounce.test.ts';
