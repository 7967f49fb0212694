import '#test/support/processes/with-services.ts';
import './gateway.test.ts';
