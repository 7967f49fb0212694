import '#test/support/with-services.ts';
import './paging.test.ts';
