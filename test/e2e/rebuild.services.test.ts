import '#test/support/with-services.ts';
import './rebuild.test.ts';
