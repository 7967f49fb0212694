import '#test/support/with-services.ts';
import './canaries.test.ts';
