import '#test/support/processes/with-services.ts';
import './concurrency.test.ts';
