import '#test/support/processes/with-services.ts';
import './canaries.test.ts';
