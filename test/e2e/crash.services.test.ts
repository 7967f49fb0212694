import '#test/support/with-services.ts';
import './crash.test.ts';
