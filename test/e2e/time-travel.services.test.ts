import '#test/support/processes/with-services.ts';
import './time-travel.test.ts';
import './time-travel-killed.test.ts';
